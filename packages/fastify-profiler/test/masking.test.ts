import t from 'tap'
import { defaultProfileBounds } from '../core/bounds.ts'
import { searchSecrets } from '../core/mask/find-secrets.ts'
import { hideKnown, knownSecrets } from '../core/mask/known-secrets.ts'
import { Mask, maskHeader } from '../core/mask/mask.ts'
import { maskQuery } from '../features/queries/bound-values.ts'
import { publishedForms } from '../core/mask/published-secrets.ts'
import { RequestSecrets } from '../core/mask/request-secrets.ts'

const names = ['password', 'token', 'key', 'key1', 'code', 'sid', 'cookie', 'authorization', 'a.token', 'session.ts']
const signs = '= : => %3D %253A =" :" =\' =%27 ":" =\\" :[ :{ =// =a. =a.token'.split(' ')
const allPrefixes = Object.values(publishedForms).flatMap(form => form.prefixes)
/** Without those that differ only in case, such as "Bearer " and "bearer ". */
const prefixes = new Map(allPrefixes.map(prefix => [prefix.toLowerCase(), prefix])).values()

/** Pieces that take long to mask, many in a row, if a masker reads what follows again for each of them. */
const hostilePieces: ReadonlySet<string> = new Set([
  ...names.flatMap(name => signs.flatMap(sign => [name + sign, `?${name}${sign} `])),
  ...[...prefixes].flatMap(prefix => [prefix, `-${prefix}`, `${prefix}a1`, `${prefix}x://`]),
  ...['a', 'a:', '"', "'", '=', '%3D', '%25', ' ', '    :', '\\', '\\"', 'password', '{"token":', '<a'],
  ...['<pw><![CDATA[', '</', 'eyJaaaaa.', 'a://x:', 'Bearer ', 'key = a.key ', '?code=', '[', ':@', 'a://@'],
  ...['a://x:@', 'http://x:y', 'http://x:y/@', "'token'=>{", 'token=>{', '"name":"key",', '"key":"key","value":'],
  ...['"token",', '"token","1a2b3c', '\\"token\\",', ' --token ', 'token is ', '<a name="key" value="', '<key><a>'],
  ...['-----BEGIN PRIVATE KEY-----', '"code":"', "',", 'sk-proj-some-words-', 'ghp_xoxb-AKIAglpat-', '-eyJaaaaa'],
  ...['_eyJaaaaa', 'SG.aaaaaaaaaaaaaaaaaaaaaa.', 'curl -u a', '--token--key ', 'a://b:80/c', '$2b$$argon2'],
  ...['<token></token>', '<token><![CDATA[', 'curl -su', 'curl \\\n', 'mysql -p ', 'a://x:y/@a', '--url a '],
  ...['"key":[', 'key:{', 'code:{', 'key1:{"', ')=(', '(token)=(a) ', "(key)=('", 'Failing row contains ('],
  ...["identified by 'a", "password '", 'set password for ', "set password='", "Duplicate entry '"],
  ...["Duplicate entry 'a' for key 'token'", "Duplicate entry '' for key '", 'key $1 ', 'case when key = $1 then $2 '],
  ...["key 'a' ", '(key $1', '$key$', 's:j:.', '{"a":', 'a;', 'Token a="b", '],
])

const known = knownSecrets(Array.from({ length: 1000 }, (_, number) => `${'a'.repeat(number % 100)}-secret-${number}`))

/** Every masker of texts. */
const maskers: Record<string, (text: string) => unknown> = {
  text: searchSecrets,
  statement: sql => maskQuery(sql, Array(sql.length).fill('a')),
  'known secrets': text => known !== null && hideKnown(text, known),
  headers(value) {
    const request = new RequestSecrets(defaultProfileBounds, null)
    request.learnFromHeaders(['Cookie', 'Set-Cookie', 'Authorization', 'Location', 'X-Key'].map(name => [name, value]))
    return maskHeader(['Cookie', value], new Mask(defaultProfileBounds, request))
  },
  URL(query) {
    const request = new RequestSecrets(defaultProfileBounds, null)
    request.learnFromUrl(`/?token=secret-1x2y&${query}`)
    request.learnSpellings(`/?${query}`)
  },
  fields(text) {
    const request = new RequestSecrets(defaultProfileBounds, null)
    const fields = Array.from({ length: text.length / 100 }, (_, at) => text.slice(at, at + 100))
    request.learnFrom(Object.fromEntries(fields.map((field, index) => [`${field}${index}`, field])))
  },
}

/** Learns a secret as a URL of this length may spell it, differently each time. */
function learnSpellings(length: number): void {
  const secret = 'secret-1x2y'
  const encoded = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`
  const spelled = Array.from({ length: length / 20 }, (_, number) =>
    secret.replace(/./g, (letter, at: number) => ((number >> at) & 1 ? encoded(letter) : letter)),
  )
  const request = new RequestSecrets(defaultProfileBounds, null)
  request.add(secret)
  request.learnSpellings(spelled.join('/'))
}

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
