import t from 'tap'
import { renderKeyValueTable } from '../../../../../plugins/debug/profiler/views/key-value-table.ts'
import { html } from '../../../../../plugins/debug/profiler/views/html.ts'
import { renderValue, valueText } from '../../../../../plugins/debug/profiler/views/value.ts'

t.test('nothing, an empty string and a value look different', async t => {
  t.same([null, undefined, '', 'x', 0].map(value => String(renderValue(value))), [
    '<span class="muted">null</span>', '<span class="muted">undefined</span>', '<span class="muted">empty</span>', '<code>x</code>', '<code>0</code>'
  ])
})

t.test('a long object is indented in a block, line breaks of its strings shown', async t => {
  const text = String(renderValue({ stack: 'Error: no\n    at here', path: 'C:\\new', more: 'x'.repeat(200) }))
  t.match(text, 'Error: no\n    at here')
  t.match(text, 'C:\\\\new')
})

t.test('a value that JSON has no word for is written all the same', async t => {
  t.equal(valueText(undefined), 'undefined')
})

t.test('a value is cut where it would flood the page, and says by how much', async t => {
  t.match(valueText('x'.repeat(20_003)), /x… \(3 characters more\)$/)
})

t.test('a table of pairs takes markup as it is and any value as a value', async t => {
  t.match(String(renderKeyValueTable('Facts', [['a', html`<b>1</b>`], ['b', '<b>']])), /<dd><b>1<\/b><\/dd>.*<dd><code>&lt;b&gt;/s)
})

t.test('a table of nothing says so', async t => {
  t.equal(String(renderKeyValueTable('Facts', [], 'No facts.')), '<p class="empty">No facts.</p>')
})
