import t from 'tap'
import { authorOf, createRecord, museums, removeRecord } from '../index.ts'
import { openTestSite } from '../testing.ts'

const site = await openTestSite({
  async routes(app) {
    app.get('/me', async ({ user, headers }) => ({ admin: user?.admin ?? null, agent: headers['user-agent'] }))
    app.post('/museums', async request => {
      const depot = { license_id: request.requireLicense().id, name: 'Depot' }
      return await createRecord(app.database.db, authorOf(request), museums, depot)
    })
  },
})
t.teardown(() => site.close())

t.test(
  'a test site has the demonstration and its own routes, for visitors and for users who are signed in',
  async t => {
    const [admin, user] = [await site.signIn(), await site.signIn({ admin: false })]
    t.match((await site.ask('/me')).json(), { admin: null })
    t.match((await admin({ url: '/me', headers: { 'user-agent': 'Lynx' } })).json(), { admin: true, agent: 'Lynx' })
    t.match((await user('/me')).json(), { admin: false })
    t.match((await admin({ method: 'POST', url: '/museums' })).json(), { name: 'Depot' })
    t.equal((await site.ask('/api/museums')).statusCode, 404)
  },
)

t.test('a test changes records as an author of its own', async t => {
  const added = await createRecord(site.db, site.author, museums, { license_id: '1', name: 'Attic' })
  t.match(await removeRecord(site.db, site.author, site.app.recordKinds, museums, added.id), { name: 'Attic' })
})
