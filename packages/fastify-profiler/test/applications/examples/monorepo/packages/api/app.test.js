import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.js'

test('a shop has items', async () => {
  const app = build()
  assert.deepEqual((await app.inject('/shops/louvre')).json(), [{ item: 'Poster of louvre' }])
  await app.close()
})
