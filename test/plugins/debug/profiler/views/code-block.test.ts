import t from 'tap'
import { renderCodeBlock, renderExcerpt, renderSqlBlock } from '../../../../../plugins/debug/profiler/views/code-block.ts'

function lines (text: string[], first = 1, line = 1): string {
  return String(renderExcerpt({ first, line, lines: text }))
}

t.test('every line has its number, the one that matters is marked', async t => {
  const text = lines(['a', 'b', 'c'], 40, 41)
  t.match(text, '<span class="line" data-line="40">a')
  t.match(text, '<mark class="line" data-line="41">b')
  t.match(text, '<span class="line" data-line="42">c')
})

t.test('keywords, strings and comments are told apart', async t => {
  t.match(lines(["const a = 'const' // return"]), '<span class="keyword">const</span> a = <span class="string">&#39;const&#39;</span> <span class="comment">// return</span>')
})

t.test('a comment over two lines is coloured on both', async t => {
  t.match(lines(['/* one', 'two */ let']), /<span class="comment">\/\* one<\/span>\n<\/mark>.*<span class="comment">two \*\/<\/span> <span class="keyword">let/s)
})

t.test('lines that begin within a comment are seen to', async t => {
  t.match(lines([' * it is', ' */', 'return it']), /<span class="comment"> \* it is<\/span>.*<span class="comment"> \*\/<\/span>\n<\/span>.*<span class="keyword">return<\/span> it/s)
})

t.test('a line too long to read is cut', async t => {
  t.match(lines(['x'.repeat(401)]), `${'x'.repeat(400)}…`)
})

t.test('code that says markup shows it', async t => {
  t.match(lines(['<script>']), '&lt;script&gt;')
  t.match(String(renderCodeBlock('<script>')), '&lt;script&gt;')
})

t.test('SQL has its keywords, strings and placeholders marked, quoted names not', async t => {
  const text = String(renderSqlBlock('select "from" from t -- x\nwhere a = $1 and b = \'\'\'\' /* y */'))
  t.match(text, '<span class="keyword">select</span> &quot;from&quot; <span class="keyword">from</span> t <span class="comment">-- x</span>\n<span class="keyword">where</span>')
  t.match(text, '<span class="string">$1</span>')
  t.match(text, '<span class="comment">/* y */</span>')
})

t.test('a statement of many pages is cut', async t => {
  t.match(String(renderSqlBlock('x'.repeat(20_001))), 'x…')
})
