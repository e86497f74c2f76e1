import Fastify from 'fastify'
import mercurius from 'mercurius'
import pg from 'pg'

const schema = `
  type Museum { id: Int! paintings: [String!]! }
  type Query { museums: [Museum!]! }
`

/** mercurius, with a resolver that queries once for each museum. */
const app = Fastify()
const pool = new pg.Pool({ connectionString: process.env.POSTGRES_URL })
app.register(mercurius, {
  schema,
  resolvers: {
    Query: {
      async museums() {
        const { rows } = await pool.query('select generate_series(1, 3) as id') // query
        return rows
      },
    },
    Museum: {
      async paintings({ id }) {
        const { rows } = await pool.query('select $1::text as title', [`Painting ${id}`]) // query
        return rows.map(({ title }) => title)
      },
    },
  },
})

console.log(await app.listen({ port: Number(process.env.PORT) }))
