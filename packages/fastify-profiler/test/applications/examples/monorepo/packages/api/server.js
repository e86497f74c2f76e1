import Fastify from 'fastify'
import { itemsOf } from 'shop'

const app = Fastify()
app.get('/shops/:shop', async request => itemsOf(request.params.shop))

console.log(await app.listen({ port: Number(process.env.PORT) }))
