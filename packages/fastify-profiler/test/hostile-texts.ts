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
export const hostilePieces: ReadonlySet<string> = new Set([
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
export const maskers: Record<string, (text: string) => unknown> = {
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
export function learnSpellings(length: number): void {
  const secret = 'secret-1x2y'
  const encoded = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`
  const spelled = Array.from({ length: length / 20 }, (_, number) =>
    secret.replace(/./g, (letter, at: number) => ((number >> at) & 1 ? encoded(letter) : letter)),
  )
  const request = new RequestSecrets(defaultProfileBounds, null)
  request.add(secret)
  request.learnSpellings(spelled.join('/'))
}
