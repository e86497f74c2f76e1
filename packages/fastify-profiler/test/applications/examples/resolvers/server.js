import { ApolloServer } from '@apollo/server'
import fastifyApollo from '@as-integrations/fastify'
import { initTRPC } from '@trpc/server'
import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import Fastify from 'fastify'
import { createSchema, createYoga } from 'graphql-yoga'
import mercurius from 'mercurius'

async function order() {
  try {
    throw new TypeError('no price') // thrown
  } catch (cause) {
    throw new Error('The order is broken', { cause }) // thrown
  }
}

const schema = 'type Query { order: Int! }'
const resolvers = { Query: { order } }

/** Servers that catch what their resolvers throw. */
const app = Fastify()
const t = initTRPC.create()
const router = t.router({ order: t.procedure.query(order) })
app.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions: { router } })
app.register(mercurius, { schema, resolvers, path: '/mercurius' })
const yoga = createYoga({
  schema: createSchema({ typeDefs: schema, resolvers }),
  graphqlEndpoint: '/yoga',
  logging: false,
})
app.route({
  url: '/yoga',
  method: ['GET', 'POST'],
  handler: (request, reply) => yoga.handleNodeRequestAndResponse(request, reply),
})
const apollo = new ApolloServer({ typeDefs: schema, resolvers, csrfPrevention: false })
await apollo.start()
await app.register(fastifyApollo(apollo), { path: '/apollo' })

console.log(await app.listen({ port: Number(process.env.PORT) }))
