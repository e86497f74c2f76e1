import { MongoClient } from 'mongodb'
import t from 'tap'
import { linesOf, profileOf } from './driver-app.ts'
import { serveMongodb } from './mongodb-server.ts'

const lineOf = linesOf(import.meta.filename)
const port = await serveMongodb(t)
const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, { serverApi: '1' })
t.teardown(() => client.close())
const art = client.db('museum').collection('art')

t.test('a command has its name and collection, its documents and its caller', async t => {
  const { database } = await profileOf(t, async () => {
    t.match(await art.find({ year: 1503 }).toArray(), [{ name: 'Mona Lisa' }]) // listed
    await art.updateOne({ name: 'Mona Lisa' }, { $set: { year: 1503 } }) // changed
    await art.aggregate([{ $match: { year: 1503 } }]).toArray() // aggregated
  })
  t.match(database, {
    count: 3,
    rows: 3,
    queries: [
      { sql: 'find art', location: { line: lineOf('listed') } },
      { sql: 'update art', rows: 1, location: { line: lineOf('changed') } },
      { sql: 'aggregate art', rows: 1, location: { line: lineOf('aggregated') } },
    ],
  })
})
