import Fastify from 'fastify'

/** No logger, several instances, and an instance that calls the other. */
const inner = Fastify({ logger: false })
inner.get('/price', async () => ({ price: 12 }))

const app = Fastify({ logger: false })
app.get('/tickets', async () => (await inner.inject('/price')).json())
app.get('/broken', async () => {
  throw new Error('out of tickets')
})

console.log(await app.listen({ port: Number(process.env.PORT) }))
