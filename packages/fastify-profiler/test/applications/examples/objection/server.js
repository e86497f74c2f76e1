import Fastify from 'fastify'
import createKnex from 'knex'
import { Model } from 'objection'

/** Objection on knex and pg, with a temporary table in the only connection. */
const app = Fastify()
const knex = createKnex({ client: 'pg', connection: process.env.POSTGRES_URL, pool: { min: 1, max: 1 } })
await knex.raw('create temporary table museum (id serial primary key, name text, twin int)')

class Museum extends Model {
  static tableName = 'museum'
  static relationMappings = {
    twins: { relation: Model.HasManyRelation, modelClass: Museum, join: { from: 'museum.id', to: 'museum.twin' } },
  }
}
Museum.knex(knex)

app.get('/museums', async () => {
  return await Museum.query().where('name', 'Louvre').limit(2) // query
})
app.post('/moves', async () => {
  return await Museum.transaction(async transaction => {
    const { id } = await Museum.query(transaction).insert({ name: 'Louvre' }) // query
    await Museum.query(transaction).patch({ twin: id }) // query
    const museums = await Museum.query(transaction).withGraphFetched('twins') // query
    await Museum.query(transaction).deleteById(id) // query
    return museums
  })
})

console.log(await app.listen({ port: Number(process.env.PORT) }))
