// A client of Portico's API with types made from its OpenAPI document:
//   npx openapi-typescript http://localhost:3000/api/openapi.json --output openapi.ts
//   npm install openapi-fetch
//   PORTICO=http://localhost:3000 EMAIL=me@museum.example PASSWORD=… npx tsx api-client.ts
import createClient from 'openapi-fetch'
import type { components, paths } from './openapi.ts'

const { PORTICO: baseUrl = 'http://localhost:3000', EMAIL: email, PASSWORD: password } = process.env

const signedIn = await fetch(`${baseUrl}/login`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ email, password }),
})
const cookie = signedIn.headers
  .getSetCookie()
  .map(cookie => cookie.replace(/;.*/, ''))
  .join('; ')
const api = createClient<paths>({ baseUrl, headers: { cookie } })

/** Prints why a request was refused. */
function tell({ status, detail, errors = [] }: components['schemas']['Problem']): void {
  console.log(`${status}: ${detail}`, ...errors.map(({ field }) => field))
}

const added = await api.POST('/api/license-types', { body: { type: 'loan' } })
if (added.error) {
  tell(added.error)
  process.exit(1)
}
const { id } = added.data
console.log(`Added the license type ${added.data.type}.`)

// If-Match keeps a change from overwriting somebody else's.
const version = { params: { path: { id }, header: { 'if-match': added.response.headers.get('etag') ?? '*' } } }
const changed = await api.PATCH('/api/license-types/{id}', { ...version, body: { type: 'permanent loan' } })
console.log(`Changed it to ${changed.data?.type}.`)
const refused = await api.PATCH('/api/license-types/{id}', { ...version, body: { type: 'gift' } })
if (refused.error) tell(refused.error)

// All pages of a list, two records at a time.
let cursor: string | null | undefined
do {
  const query = { type_prefix: 'Perm', total: true, limit: 2, sort: '-type', ...(cursor && { cursor }) } as const
  const { data, error } = await api.GET('/api/license-types', { params: { query } })
  if (error) tell(error)
  for (const { type } of data?.items ?? []) console.log(`One of ${data?.total}: ${type}`)
  cursor = data?.next
} while (cursor)

const removed = await api.DELETE('/api/license-types/{id}', { params: { path: { id } } })
console.log(`Removed it: ${removed.response.status}.`)

const invalid = await api.POST('/api/museums', { body: { license_id: 'first', name: 'Depot', url: null } })
if (invalid.error) tell(invalid.error)
