import t from 'tap'
import { html, Markup } from '../../../src/pages/html.ts'

t.test('values in a template are escaped', async t => {
  t.equal(html`<p title="${'"&\''}">${'<b>'}</p>`.toString(), '<p title="&#34;&#38;&#39;">&#60;b&#62;</p>')
})

t.test('markup is not escaped again', async t => {
  t.equal(html`<p>${html`<b>${'<'}</b>`}${new Markup('<i></i>')}</p>`.toString(), '<p><b>&#60;</b><i></i></p>')
})

t.test('lists are concatenated', async t => {
  t.equal(html`${['<', html`<br>`, [1, 2]]}`.toString(), '&#60;<br>12')
})

t.test('null, undefined and false print nothing', async t => {
  t.equal(html`a${null}b${undefined}c${false}d${0}${''}`.toString(), 'abcd0')
})
