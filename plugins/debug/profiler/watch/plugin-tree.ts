import { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import type { PluginNode } from '../base/profile.ts'
import { whenThere } from '../base/promised.ts'

/**
 * Knows which plugin is running when something is registered. Fastify's pluginName does not: it is the name of the
 * encapsulation context, so the application's own hooks get the name of the plugin before them.
 */
export class PluginTree {
  readonly root: PluginNode = { name: 'application', duration: null, children: [] }
  readonly #loading = new AsyncLocalStorage<PluginNode>()

  /** Watches every `register` from now on, in all encapsulation contexts. */
  watch(app: FastifyInstance): void {
    const register = app.register
    const observe = (plugin: unknown) => this.#observe(plugin)
    Object.defineProperty(app, 'register', {
      configurable: true,
      writable: true,
      value: function observedRegister(this: FastifyInstance, plugin: unknown, ...options: unknown[]): unknown {
        return Reflect.apply(register, this, [observe(plugin), ...options])
      },
    })
  }

  /** The name of the running plugin; null for the application's own code. */
  current(): string | null {
    return this.#loading.getStore()?.name ?? null
  }

  /** A plugin may be a promise of a module, as from `import()`. */
  #observe(plugin: unknown): unknown {
    return whenThere(plugin, plugin => this.#observeLoaded(plugin))
  }

  #observeLoaded(plugin: unknown): unknown {
    if (typeof plugin === 'object' && plugin !== null && 'default' in plugin) return this.#observe(plugin.default)
    if (typeof plugin !== 'function') return plugin
    const node: PluginNode = { name: pluginName(plugin), duration: null, children: [] }
    const parent = this.#loading.getStore() ?? this.root
    parent.children.push(node)
    const loading = this.#loading
    // A proxy keeps fastify-plugin's properties, the name and the arity.
    return new Proxy(plugin, {
      get(target, key): unknown {
        // Fastify names a plugin by its file, which it finds by comparing functions, or by the function's source.
        if (key === displayName) return Reflect.get(target, displayName) ?? fileOf(target)
        if (key === 'toString') return () => Function.prototype.toString.call(target)
        return Reflect.get(target, key)
      },
      apply(target, self, parameters: unknown[]): unknown {
        const start = performance.now()
        const end = () => {
          node.duration = performance.now() - start
        }
        const done = parameters[2]
        if (typeof done === 'function') {
          const observedDone = (...results: unknown[]): unknown => {
            end()
            return Reflect.apply(done, undefined, results)
          }
          parameters[2] = observedDone
        }
        const result: unknown = loading.run(node, (): unknown => Reflect.apply(target, self, parameters))
        if (result instanceof Promise) result.then(end, end)
        return result
      },
    })
  }
}

const displayName = Symbol.for('fastify.display-name')

const { cache } = createRequire(import.meta.url)

/** The file of a CommonJS module that exports a plugin; undefined if there is none. */
function fileOf(plugin: unknown): string | undefined {
  return Object.keys(cache).find(file => cache[file]?.exports === plugin)
}

function pluginName(plugin: { readonly name: string }): string {
  const name: unknown = Reflect.get(plugin, displayName)
  return typeof name === 'string' ? name : plugin.name || 'anonymous'
}
