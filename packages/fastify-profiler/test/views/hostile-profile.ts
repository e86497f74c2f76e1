import type { Profile } from '../../core/profile.ts'

/** Strings that must neither run nor break a page, wherever they are in a profile. */
export const hostileStrings = [
  '<script>alert(1)</script>',
  '</script><script>alert(1)</script>',
  '</style><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "'><svg onload=alert(1)>",
  '" onmouseover="alert(1)',
  "' autofocus onfocus='alert(1)",
  '` onclick=alert(1) `',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  '</textarea></title></noscript><script>alert(1)</script>',
  '</code></pre></details><h1>gone</h1>',
  '<!-- never closed',
  '<![CDATA[x]]>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#x3C;b&#x3E;',
  '<b\0>alert</b\0>',
  '\0\x01\x07\x1b[31mred\x7f',
  '\u202etxt.exe\u202c',
  '\u2066hidden\u2069 \u200f\u200e',
  'عربي עברית <b>x</b>',
  'x'.repeat(4000), // the longest string of a profile
  '<'.repeat(4000),
  '👩‍👩‍👧‍👦🏳️‍🌈🤷🏽‍♀️'.repeat(50),
  'Z̸̡̢̛̗͈a̷̧̛̗l̸͓g̷̥o̸'.repeat(30),
  '\ud800 lone \udfff',
  '$' + '{alert(1)} {{alert(1)}} <%= 1 %>',
  '```\n## Not a heading\n```\n| a | b |',
  "'; drop table licenses; --\r\n\t\r\n\u2028\u2029",
] as const

/** Fields that decide how a profile is read, not what is shown. */
const structural = new Set(['kind', 'outcome', 'relation', 'reason', 'protocol', 'dispatchPoint'])

/** The same profile with a hostile string in place of every other one, including names of fields. */
export function hostileProfile(profile: Profile, hostile: string): Profile {
  return JSON.parse(
    JSON.stringify(profile, (key, value) => {
      if (typeof value === 'string') return structural.has(key) || value.startsWith('kernel.') ? value : hostile
      if (value !== null && ['properties', 'fields', 'query', 'params'].includes(key)) {
        return { [hostile]: hostile, again: { [hostile]: [hostile] } }
      }
      if (key === 'cookies' || key === 'labels') return { [hostile]: hostile }
      return value
    }),
  )
}
