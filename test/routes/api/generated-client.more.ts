import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import openapiTypescript, { astToString } from 'openapi-typescript'
import t from 'tap'
import { seed } from '../../../src/database/migrate.ts'
import { addLicenseType, addUser, build, openTestDatabase, testPassword } from '../../support/site.ts'
import { makeFolder } from '../../support/folder.ts'
import { uncountedNode } from '../../support/uncounted.ts'

const runFile = promisify(execFile)
const example = 'examples/api-client.ts'
const email = 'admin@museum.example'

const database = await openTestDatabase(t)
await seed(database.db)
await addUser(database, { email, admin: true })
for (const type of ['permanent', 'Permission', 'perma']) await addLicenseType(database, type)
const app = await build(t, { database })
const origin = (await app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'localhost')

/** A project with the example and with types made from the served document. */
const folder = makeFolder(t)
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
copyFileSync(example, join(folder, 'api-client.ts'))
const document = await (await fetch(`${origin}/api/openapi.json`)).text()
writeFileSync(join(folder, 'openapi.ts'), astToString(await openapiTypescript(document)))

/** Type-checks a program in the project. @returns the compiler's complaints */
async function complaintsOf(program: string): Promise<string> {
  writeFileSync(join(folder, 'program.ts'), program)
  const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8'))
  const options = { ...compilerOptions, incremental: false, tsBuildInfoFile: undefined, paths: {} }
  const settings = { compilerOptions: options, files: ['program.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  const compiler = resolve('node_modules/typescript/bin/tsc')
  return await runFile('env', [...uncountedNode, compiler, '-p', folder]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
}

t.test('a client with types from the OpenAPI document compiles, and does what it says', async t => {
  const program = readFileSync(example, 'utf8')
  t.equal(await complaintsOf(program), '')
  const { code } = await transform(program, { loader: 'ts', format: 'esm' })
  writeFileSync(join(folder, 'api-client.js'), code)
  const { stdout } = await runFile('env', [...uncountedNode, join(folder, 'api-client.js')], {
    env: { ...process.env, PORTICO: origin, EMAIL: email, PASSWORD: testPassword },
  })
  t.match(stdout.split('\n'), [
    'Added the license type loan.',
    'Changed it to permanent loan.',
    /^412: If-Match does not match the current ETag, which is "/,
    /^One of 4: /,
    /^One of 4: /,
    /^One of 4: /,
    /^One of 4: /,
    'Removed it: 204.',
    /^400: license_id must be an id: .*\. license_id$/,
    '',
  ])
  t.match(stdout, 'One of 4: Permission\n')
})

t.test('a client that the OpenAPI document does not allow does not compile', async t => {
  const complaints = await complaintsOf(`
    import createClient from 'openapi-fetch'
    import type { paths } from './openapi.ts'
    const api = createClient<paths>({ baseUrl: '' })
    void api.GET('/api/licences')
    void api.GET('/api/licenses', { params: { query: { colour: 'red' } } })
    void api.POST('/api/museums', { body: { name: 'Without a license' } })
    void api.PATCH('/api/museums/{id}', { params: { path: { id: '1' } }, body: { name: 1 } })
    // What is optional may be left out.
    void api.POST('/api/museums', { body: { license_id: '1', name: 'Arches' } })
    void api.POST('/api/licenses', { body: { domain: 'a.test', name: 'A', type_id: '1' } })`)
  t.strictSame(
    [...complaints.matchAll(/program\.ts\((\d+),/g)].map(([, line]) => line),
    ['5', '6', '7', '8'],
  )
})
