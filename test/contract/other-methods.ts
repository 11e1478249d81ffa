/** The store with some of its methods replaced. */
export function withOtherMethods<Store extends object>(store: Store, others: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, name): unknown => {
      const other: unknown = Reflect.get(others, name);
      return other ?? (Reflect.get(target, name) as () => void).bind(target);
    },
  });
}
