import t from 'tap'
import { renderLogTable } from '../../../../../plugins/debug/profiler/views/log-table.ts'
import { logsMarkdown } from '../../../../../plugins/debug/profiler/views/logs-markdown.ts'
import { profile } from './example-profile.ts'

t.test('every line stands there with level, time, message and fields', async t => {
  const text = String(renderLogTable(profile().logs))
  t.equal(text.match(/<li class="level-/g)?.length, 4)
  t.match(text, /badge warning">warn<.*12\.8 ms.*museum has no picture.*<dt>museum<\/dt>/s)
})

t.test('each level among the lines can be unticked, with its count', async t => {
  const text = String(renderLogTable(profile().logs))
  t.match(text, /class="level-info"> info <span class="count">2</)
  t.notMatch(text, 'class="level-fatal"> fatal')
})

t.test('lines of one level need no choice', async t => {
  t.notMatch(String(renderLogTable([{ level: 30, start: 0, message: '', fields: {} }])), 'fieldset')
})

t.test('a request that logged nothing says so', async t => {
  t.match(String(renderLogTable([])), 'Nothing was logged')
})

t.test('Markdown has a row for each line', async t => {
  t.equal(logsMarkdown([...profile().logs, { level: 30, start: 1, message: 'a | b', fields: {} }]).split('\n').at(-1), '| info | 1 ms | a \\| b |  |')
})
