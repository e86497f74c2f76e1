import { build } from './app.js'

const app = await build()
await app.listen(Number(process.env.PORT), '127.0.0.1')
console.log(await app.getUrl())
