import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.js'

test('visits are counted and guests remembered', async () => {
  const app = await build()
  assert.deepEqual((await app.inject('/visits')).json(), { visits: true })
  assert.deepEqual((await app.inject('/guests')).json(), { guest: 'Lisa' })
  await app.close()
})
