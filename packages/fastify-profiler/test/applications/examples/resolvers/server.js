import { build } from './app.js'

const app = await build()
console.log(await app.listen({ port: Number(process.env.PORT) }))
