import t from 'tap'
import { code, codeBlock } from '../../core/view/markdown.ts'
import { fitLines } from '../../features/home/fit-markdown.ts'

const image = '![x](http://evil.example/leak)'

t.test('inline code in a line that is cut is closed', async t => {
  for (const [line, end] of [
    [`| ${code(`x&${image}&${'a'.repeat(900)}`)} |`, '`'],
    [`| ${code(`x\`${image}${'a'.repeat(900)}`)} |`, '``'],
    [`| ${code('whole')} \\\` ${'a'.repeat(900)} |`, ''],
  ] as const) {
    const { text } = fitLines(line, 1000)
    t.match(text, /… \(\d+ more characters\)$/)
    t.equal(/(`*)… \(/.exec(text)?.[1], end, text)
  }
})

t.test('a fence is never so long that it is cut', async t => {
  const block = codeBlock(`${'`'.repeat(1500)}\n${'`'.repeat(850)}\n# outside`)
  const { text } = fitLines(block, 3000)
  t.equal(text, block)
  t.match(text, /^`{16}\n`{15}\(1500 backticks\)\n`{15}\(850 backticks\)\n# outside\n`{16}$/)
})
