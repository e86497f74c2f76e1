import { createHash } from 'node:crypto'
import type { Configuration, Json, PluginNode, Route } from '../base/profile.ts'

export interface ConfigurationParts {
  versions: Record<string, string>
  settings: Record<string, Json>
  plugins: PluginNode
  routes: Route[]
}

/** Makes a configuration. Its key starts with the time, so that the newest one is last when sorted by key. */
export function describeConfiguration(parts: ConfigurationParts): Configuration {
  const { versions, settings, plugins, routes } = parts
  const content = {
    versions: { node: process.version.slice(1), ...versions },
    environment: process.env.NODE_ENV ?? null,
    settings,
    plugins,
    routes,
  }
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 12)
  return { key: `${Date.now().toString(36)}-${digest}`, ...content }
}
