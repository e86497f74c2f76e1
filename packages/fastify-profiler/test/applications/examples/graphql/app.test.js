import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.js'

test('museums have paintings, and a wrong query is refused', async () => {
  const app = build()
  const ask = async query => (await app.inject({ method: 'POST', url: '/graphql', payload: { query } })).json()
  const { data } = await ask('{ museums { id paintings } }')
  assert.deepEqual(data.museums[1], { id: 2, paintings: ['Painting 2'] })
  assert.match((await ask('{ nothing }')).errors[0].message, /nothing/)
  await app.close()
})
