import { get } from 'node:http'
import { json } from 'node:stream/consumers'
import Fastify from 'fastify'
import got from 'got'
import { request as send } from 'undici'

const clients = {
  fetch: async url => (await fetch(url)).json(), // query
  undici: async url => (await send(url)).body.json(), // query
  http: async url => json(await new Promise(resolve => get(url, resolve))), // query
  got: async url => await got(url).json(), // query
}

/** An application that asks itself. */
const app = Fastify()
app.get('/price', async () => ({ price: 12 }))
app.get('/clients/:name', async ({ params, host }) => clients[params.name](`http://${host}/price`))

console.log(await app.listen({ port: Number(process.env.PORT) }))
