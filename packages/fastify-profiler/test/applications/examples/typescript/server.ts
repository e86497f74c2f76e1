import { build } from './app.ts'

console.log(await build().listen({ port: Number(process.env['PORT']) }))
