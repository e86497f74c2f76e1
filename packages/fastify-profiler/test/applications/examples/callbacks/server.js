'use strict'
// CommonJS with callbacks: @fastify/postgres and no promise anywhere.
const fastify = require('fastify')

const app = fastify()
app.register(require('@fastify/postgres'), { connectionString: process.env.POSTGRES_URL })

app.addHook('onRequest', function checkAgent(request, reply, done) {
  setTimeout(done, 5)
})

app.get('/museums', function listMuseums(request, reply) {
  app.pg.query('select generate_series(1, 3) as id', [], function (error, result) {
    // query
    reply.send(error || result.rows)
  })
})

app.get('/museums/:id', function showMuseum(request, reply) {
  app.pg.connect(function (error, client, release) {
    if (error) return reply.send(error)
    client.query('select $1::int as id', [request.params.id], function (error, result) {
      // query
      if (error) {
        release()
        return reply.send(error)
      }
      client.query('select now() as at', function (error, other) {
        // query
        release()
        reply.send(error || { ...result.rows[0], at: other.rows.length })
      })
    })
  })
})

app.listen({ port: Number(process.env.PORT) }, function (error, address) {
  if (error) throw error
  console.log(address)
})
