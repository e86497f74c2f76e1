import t from 'tap'
import { formats } from '../../../src/records/validation.ts'
import { startApi } from '../../support/site.ts'

const { license, ask, add } = await startApi(t)

const address = `must be ${formats.uri.expects}`
for (const [what, url, reason] of [
  ['a script', 'javascript:alert(1)', address],
  ['data', 'data:text/html,<script>alert(1)</script>', address],
  ['another scheme', 'ftp://museum.test/', address],
  ['a user and a password', 'https://me:secret@museum.test/', address],
  ['a user', 'https://me@museum.test/', address],
  ['a user after three slashes', 'https:///me:secret@museum.test/', address],
  ['no host', 'https://', address],
  ['a line break', 'https://museum.test/\n', address],
  ['a quotation mark', 'https://museum.test/"onclick="alert(1)', address],
  ['10,000 characters', `https://museum.test/${'a'.repeat(10_000)}`, 'must have at most 2000 characters'],
  ['a number', 1, address],
] as const) {
  t.test(`a museum's address is refused: ${what}`, async t => {
    const { id } = await add('museums', { license_id: license, name: 'Linked', url: 'https://museum.test/' })
    for (const [method, path, payload] of [
      ['POST', 'museums', { license_id: license, name: 'Linked', url }],
      ['PATCH', `museums/${id}`, { url }],
    ] as const) {
      const response = await ask(method, path, { payload })
      t.equal(response.statusCode, 400)
      t.match(response.json().errors, [{ field: 'url', message: reason }])
    }
    t.equal((await ask('GET', `museums/${id}`)).json().url, 'https://museum.test/')
    await ask('DELETE', `museums/${id}`)
  })
}

t.test("a museum's address is kept as it was written, and may be taken away", async t => {
  for (const url of [
    'http://museum.test',
    'https://[::1]:8080/a?b=c&d#e',
    'https://müseum.test/Öffnung/😀',
    'http://a.test/@me',
    null,
  ]) {
    const { id } = await add('museums', { license_id: license, name: 'Linked', url })
    t.equal((await ask('GET', `museums/${id}`)).json().url, url)
    t.equal((await ask('PATCH', `museums/${id}`, { payload: { url: null } })).json().url, null)
    await ask('DELETE', `museums/${id}`)
  }
})
