import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { refuseUndeclared } from './undeclared.js';

/** Sends a query and a body to a handler with these Nest parameter keys. */
function ask(keys: string[]): void {
  // A new class each time: declared parameters are cached per class.
  class Controller {
    list(this: void): void {}
  }
  const parameters = Object.fromEntries(keys.map((key) => [key, {}]));
  Reflect.defineMetadata(ROUTE_ARGS_METADATA, parameters, Controller, 'list');
  const request = { query: { a: '1' }, body: { b: 1 } };
  const context = new ExecutionContextHost([request], Controller, Controller.prototype.list);
  refuseUndeclared(context);
}

describe('a handler', () => {
  it.each([
    ['without parameters', [], 'a is not a known property'],
    ['with a body alone', ['3:0'], 'a is not a known property'],
    ['with a query alone', ['4:0'], 'b is not a known property'],
    [
      'with a custom parameter, whatever its random name starts with',
      ['4e71__customRouteArgs__:0'],
      'a is not',
    ],
  ])('%s accepts no other input', (_, keys, message) => {
    expect(() => ask(keys)).toThrow(message);
  });

  it('with both accepts both', () => {
    expect(() => ask(['3:0', '4:1'])).not.toThrow();
  });
});
