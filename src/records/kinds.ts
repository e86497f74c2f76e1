import { groups } from './group.ts'
import { languages } from './language.ts'
import { licenses } from './license.ts'
import { licenseTypes } from './license-type.ts'
import { museums } from './museum.ts'
import { platforms } from './platform.ts'
import type { RecordKind } from './record-kind.ts'
import { users } from './user.ts'

/** Every kind of record that is kept, those before others that refer to them. */
export const kinds: readonly RecordKind[] = [licenseTypes, languages, platforms, licenses, museums, groups, users]
