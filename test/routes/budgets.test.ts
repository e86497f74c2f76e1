import { expectProfile, profiled } from 'fastify-profiler/testing'
import t from 'tap'
import { buildDebugged } from '../plugins/debug/panels/panels.ts'
import { addLicense, openTestDatabase } from '../support/site.ts'

const database = await openTestDatabase(t)
const museums = Array.from({ length: 20 }, (_, index) => `Museum ${index}`)
await addLicense(database, { domain: 'budget.test', name: 'Budget', languages: ['en', 'de'], museums })

const app = await buildDebugged(t, { database })
const { inject } = profiled(app)
const headers = { host: 'budget.test' }

t.test('the front page of a site with twenty museums sends two queries at first, and none again', async () => {
  const { profile } = await inject({ url: '/', headers })
  expectProfile(profile).queries({ max: 2 }).noLoops().noErrorLogs()
  const { profile: again } = await inject({ url: '/', headers })
  expectProfile(again).queries({ max: 0 }).noErrorLogs()
})

t.test('an API request without a user is refused without a query', async t => {
  const { response, profile } = await inject({ url: '/api/licenses/1', headers })
  t.equal(response.statusCode, 401)
  expectProfile(profile).queries({ max: 0 }).noErrorLogs()
})

t.test('a path without a route is answered without a query', async t => {
  const { response, profile } = await inject({ url: '/version', headers })
  t.equal(response.statusCode, 404)
  expectProfile(profile).queries({ max: 0 }).noErrorLogs()
})
