import t from 'tap'
import { nextPath } from '../../../src/http/next-path.ts'

const kept: Record<string, string> = {
  '/': '/',
  '/a/b?c=d#e': '/a/b?c=d#e',
  '/a//b': '/a//b',
  '/?next=//evil.test': '/?next=//evil.test',
  '/a/../b': '/b',
  '/\u00e9 <script>': '/%C3%A9%20%3Cscript%3E',
  '/a\r\nset-cookie: b': '/aset-cookie:%20b',
  '/@evil.test': '/@evil.test',
  '/:80': '/:80',
}

for (const [next, path] of Object.entries(kept)) {
  t.test(`${JSON.stringify(next)} is a path of this site`, async t => {
    t.equal(nextPath(next), path)
  })
}

for (const next of [
  '//evil.test',
  '///evil.test',
  '/\\evil.test',
  '\\/evil.test',
  '\\\\evil.test',
  '/\t/evil.test',
  '/\n/evil.test',
  '/\r\n/evil.test',
  '\t//evil.test',
  ' //evil.test',
  'https:',
  'https:evil.test',
  'https:/evil.test',
  'https://evil.test/',
  'http://site.invalid/',
  'javascript:alert(1)',
  'data:text/html,a',
  'evil.test',
  '@evil.test',
  '?a',
  '#a',
  '',
  '/.//evil.test',
  '/a/..//evil.test',
  '/%2e//evil.test',
  '//',
  '//evil.test:port',
  '//[',
]) {
  t.test(`${JSON.stringify(next)} leads to the front page`, async t => {
    t.equal(nextPath(next), '/')
  })
}

t.test('a missing path leads to the front page', async t => {
  t.equal(nextPath(undefined), '/')
})
