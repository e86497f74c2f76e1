import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { build } from './app.js'

test('an upload of a megabyte arrives unchanged', async () => {
  const app = build()
  const origin = await app.listen({ port: 0 })
  const picture = Buffer.alloc(1_000_000, 'pixel')
  const form = new FormData()
  form.append('title', 'Mona Lisa')
  form.append('picture', new Blob([picture]), 'mona.jpg')
  const response = await fetch(`${origin}/pictures`, { method: 'POST', body: form })
  assert.deepEqual(await response.json(), { 'mona.jpg': createHash('sha256').update(picture).digest('hex') })
  await app.close()
})
