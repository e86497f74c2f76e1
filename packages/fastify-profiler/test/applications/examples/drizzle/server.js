import { build } from './app.js'

console.log(await build().listen({ port: Number(process.env.PORT) }))
