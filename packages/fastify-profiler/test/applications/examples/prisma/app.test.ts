import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.ts'

test('two types are listed', async () => {
  const app = build()
  assert.equal((await app.inject('/types')).json().length, 2)
  assert.deepEqual((await app.inject('/both')).json(), { count: { one: 1 }, bool: { name: 'bool' } })
  await app.close()
})
