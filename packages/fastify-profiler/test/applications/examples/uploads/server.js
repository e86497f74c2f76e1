import { createHash } from 'node:crypto'
import multipart from '@fastify/multipart'
import Fastify from 'fastify'

/** Multipart uploads, read as streams. */
const app = Fastify({ logger: { level: 'error' } })
app.register(multipart, { limits: { fileSize: 2_000_000 } })

app.post('/pictures', async request => {
  const hashes = {}
  for await (const part of request.parts()) {
    if (part.type !== 'file') continue
    const hash = createHash('sha256')
    for await (const chunk of part.file) hash.update(chunk)
    hashes[part.filename] = part.file.truncated ? null : hash.digest('hex')
  }
  return hashes
})

console.log(await app.listen({ port: Number(process.env.PORT) }))
