import t from 'tap'
import { html, Markup } from '../../../src/pages/html.ts'

t.test('what is put into a template is escaped', async t => {
  t.equal(html`<p title="${'"&\''}">${'<b>'}</p>`.toString(), '<p title="&#34;&#38;&#39;">&#60;b&#62;</p>')
})

t.test('markup is not escaped again', async t => {
  t.equal(html`<p>${html`<b>${'<'}</b>`}${new Markup('<i></i>')}</p>`.toString(), '<p><b>&#60;</b><i></i></p>')
})

t.test('lists are put in one after another', async t => {
  t.equal(html`${['<', html`<br>`, [1, 2]]}`.toString(), '&#60;<br>12')
})

t.test('nothing is put in for null, undefined and false', async t => {
  t.equal(html`a${null}b${undefined}c${false}d${0}${''}`.toString(), 'abcd0')
})
