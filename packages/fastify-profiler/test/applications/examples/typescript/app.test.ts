import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.ts'

test('types are found by name', async () => {
  const app = build()
  assert.deepEqual((await app.inject('/types/bool')).json(), { type: 'bool', at: 1 })
  assert.deepEqual((await app.inject('/types/none')).json(), { type: null, at: 1 })
  assert.deepEqual((await app.inject({ method: 'POST', url: '/moves' })).json(), [{ one: 1 }])
  await app.close()
})
