import { decode } from './percent-encoding.ts'
import { looksSecret } from './secret-values.ts'
import { isSensitiveField } from './sensitive-names.ts'

/** PWD and OLDPWD are the shell's working directories, not passwords. */
const workingDirectory = /^(?:OLD)?PWD$/

/** A password may contain @ or a slash, so it ends at the first @ or at the last. A user name alone may be a token. */
const userInfos = [
  /^[\w+.-]+:\/\/[^\s:/@]*:([^\s@]+)@/,
  /^[\w+.-]+:\/\/[^\s:/@]*:(\S+)@/,
  /^[\w+.-]+:\/\/([^\s:/@]{20,})@/,
]

/** The secrets in the environment: values under sensitive names, and passwords in URLs, encoded and decoded. */
export function environmentSecrets(environment: Record<string, string | undefined>): string[] {
  const secrets: string[] = []
  for (const [name, value = ''] of Object.entries(environment)) {
    if (isSensitiveField(name, value) && !workingDirectory.test(name)) secrets.push(value)
    for (const userInfo of userInfos) {
      const password = userInfo.exec(value)?.[1]
      if (password !== undefined) secrets.push(password, decode(password))
    }
  }
  return secrets.filter(looksSecret)
}
