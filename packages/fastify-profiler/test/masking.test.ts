import t from 'tap'
import { hostilePieces, learnSpellings, maskers } from './hostile-texts.ts'

/** The characters that patterns and searches pass over during a call, and the number of both. */
function workOf(call: () => unknown): number {
  const { exec } = RegExp.prototype
  const { indexOf } = String.prototype
  let work = 0
  Object.assign(RegExp.prototype, {
    exec(this: RegExp, text: string) {
      const from = this.global || this.sticky ? this.lastIndex : 0
      const match = exec.call(this, text)
      // A sticky pattern that does not match has not read the text to its end.
      const to = match !== null ? match.index + match[0].length : this.sticky ? from : text.length
      work += 1 + Math.max(0, to - from)
      return match
    },
  })
  Object.assign(String.prototype, {
    indexOf(this: string, wanted: string, from = 0) {
      const found = indexOf.call(this, wanted, from)
      work += 1 + (found === -1 ? this.length : found) - from
      return found
    },
  })
  try {
    call()
  } finally {
    Object.assign(RegExp.prototype, { exec })
    Object.assign(String.prototype, { indexOf })
  }
  return work
}

/** Whether twice the length is much more than twice the work. */
function isSlow(mask: (length: number) => unknown): boolean {
  const [once = 0, twice = 0] = [1000, 2000].map(length => workOf(() => mask(length)))
  return twice > 2.3 * once
}

for (const [what, mask] of Object.entries(maskers)) {
  t.test(`Twice the ${what} is at most twice the work, whatever it repeats`, async t => {
    const slow = [...hostilePieces].filter(piece =>
      isSlow(length => mask(piece.repeat(Math.ceil(length / piece.length)))),
    )
    t.same(slow, [])
  })
}

t.test('Twice the spellings of a secret in a URL are at most twice the work', async t => {
  t.notOk(isSlow(learnSpellings))
})
