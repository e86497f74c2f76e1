import { execFileSync } from 'node:child_process'
import t from 'tap'

// Runs before the suite: what tap builds by .taprc in the course of a run comes too late for that run, whose processes
// would load TypeScript, each of them.
if (t.pluginSignature.includes('@tapjs/typescript')) execFileSync('tap', ['build'], { stdio: 'inherit' })
