import t from 'tap'
import { locationText, renderLocation } from '../../../../../plugins/debug/profiler/views/location.ts'

const place = { root: '/srv/app', editorUrl: 'editor://open?file={file}&line={line}&column={column}' }

t.test('a place below the application is named without its folder', async t => {
  t.equal(locationText({ file: '/srv/app/routes/a.ts', line: 3, column: 5 }, place.root), 'routes/a.ts:3:5')
})

t.test('a place outside the application keeps its path', async t => {
  t.equal(locationText({ file: '/srv/apple/a.ts', line: 3, column: 5 }, place.root), '/srv/apple/a.ts:3:5')
})

t.test('a place opens in the editor that is configured', async t => {
  t.match(String(renderLocation({ file: '/srv/app/a b.ts', line: 3, column: 5 }, place)), 'href="editor://open?file=/srv/app/a%20b.ts&amp;line=3&amp;column=5"')
})

t.test('without an editor there is no link', async t => {
  t.notMatch(String(renderLocation({ file: '/srv/app/a.ts', line: 3, column: 5 }, { ...place, editorUrl: null })), 'href')
})

t.test('what lies in Node itself cannot be opened', async t => {
  t.notMatch(String(renderLocation({ file: 'node:internal/timers', line: 3, column: 5 }, place)), 'href')
})

t.test('a place nobody knows is said to be unknown', async t => {
  t.match(String(renderLocation(null, place)), 'unknown')
})
