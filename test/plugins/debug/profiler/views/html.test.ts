import t from 'tap'
import { escape, html } from '../../../../../plugins/debug/profiler/views/html.ts'

t.test('text in a template is escaped', async t => {
  t.equal(String(html`<p title="${'"&\''}">${'<b>`'}</p>`), '<p title="&quot;&amp;&#39;">&lt;b&gt;&#96;</p>')
})

t.test('markup in a template stays markup, lists are joined', async t => {
  t.equal(String(html`<ul>${['a', 'b'].map(item => html`<li>${item}</li>`)}</ul>`), '<ul><li>a</li><li>b</li></ul>')
})

t.test('null, undefined and false print nothing, zero prints itself', async t => {
  t.equal(String(html`[${null}${undefined}${false}${0}]`), '[0]')
})

t.test('stored data that looks like markup is escaped', async t => {
  const stored = JSON.parse('{"text":"<b>","toString":"<b>"}')
  t.equal(String(html`${stored.text}`), '&lt;b&gt;')
})

t.test('control characters are shown as pictures, those that reorder text by their number', async t => {
  t.equal(escape('a\0b\x7f\u202ec\n'), 'a\u2400b\u2421\\u202ec\n')
})
