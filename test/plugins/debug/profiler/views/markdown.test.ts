import t from 'tap'
import { blocks, code, codeBlock, plain, table } from '../../../../../plugins/debug/profiler/views/markdown.ts'

t.test('text that would be Markdown is not', async t => {
  t.equal(plain('# [a](b) *c* <d>\n| e'), '\\# \\[a\\](b) \\*c\\* \\<d\\> \\| e')
})

t.test('code within a line may hold backticks', async t => {
  t.same([code('a'), code('a`b'), code(' ')], ['`a`', '`` a`b ``', '(empty)'])
})

t.test('a block of code cannot be left from within', async t => {
  t.equal(codeBlock('a\r\n```\nb', 'ts'), '````ts\na\n```\nb\n````')
})

t.test('cells of a table cannot make another', async t => {
  t.equal(table(['a'], [['x | y'], ['x \\| y']]), '| a |\n| --- |\n| x \\| y |\n| x \\| y |')
})

t.test('blocks that are not there leave no gap', async t => {
  t.equal(blocks('a', null, '', 'b'), 'a\n\nb')
})
