import t from 'tap'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { makeFolder } from '../folder.ts'

t.test('without options the app serves its routes from an embedded database in ./data', async t => {
  t.chdir(makeFolder(t))
  const app = await buildApp()
  t.teardown(() => app.close())
  for (const host of ['localhost:3000', '127.0.0.1:3000']) {
    const response = await app.inject({ url: '/', headers: { host, accept: 'application/json' } })
    t.equal(response.statusCode, 200)
    t.ok(response.json().museums.length > 0)
  }
  t.equal((await app.inject({ url: '/', headers: { host: 'protected.localhost' } })).statusCode, 401)
})

t.test('an app whose routes fail to register lets go of its database', async t => {
  const config = readConfig({ DATA_DIR: makeFolder(t) })
  await t.rejects(buildApp({ config, async routes () { throw new Error('No routes today.') } }), { message: 'No routes today.' })
  const app = await buildApp({ config })
  t.equal((await app.inject({ url: '/', headers: { host: 'localhost' } })).statusCode, 200)
  await app.close()
})
