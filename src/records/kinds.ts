import { groups } from './group.ts'
import { languages } from './language.ts'
import { licenses } from './license.ts'
import { licenseTypes } from './license-type.ts'
import { museums } from './museum.ts'
import { platforms } from './platform.ts'
import type { RecordKind } from './record-kind.ts'
import { users } from './user.ts'

/** All kinds of records. Each comes after the kinds that it refers to. */
export const kinds: readonly RecordKind[] = [licenseTypes, languages, platforms, licenses, museums, groups, users]
