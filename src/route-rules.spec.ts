import { Body, Get, Query } from '@nestjs/common';
import { IsOptional } from 'class-validator';
import { Access, CurrentUser } from './common/access.js';
import { parseRequest } from './common/request-parser.js';
import { rulesOf } from './route-rules.js';

class Input {
  @IsOptional()
  a?: string;
}

@Access('member')
class Controller {
  @Get()
  nothing(): void {}

  @Get()
  custom(@CurrentUser() _user: string): void {}

  @Get()
  body(@CurrentUser() _user: string, @Body() _body: Input): void {}

  @Get()
  query(@Query() _query: Input): void {}

  @Get()
  both(@Query() _query: Input, @Body() _body: Input): void {}

  @Get()
  bytes(@Body() _body: Buffer): void {}

  @Access('owner')
  owners(): void {}
}

class Undeclared {
  open(): void {}
}

describe('the rules of a route', () => {
  it.each([
    ['nothing', false, false],
    ['custom', false, false],
    ['body', true, false],
    ['query', false, true],
    ['both', true, true],
  ] as const)('accept only the inputs that are declared: %s', (name, hasBody, hasQuery) => {
    const { body, query } = rulesOf(Controller, name);
    const accepts = (schema: typeof body): boolean => {
      try {
        parseRequest(schema!, { a: '1' });
        return true;
      } catch {
        return false;
      }
    };
    expect([accepts(body), accepts(query)]).toEqual([hasBody, hasQuery]);
  });

  it('pass on bytes unchecked', () => expect(rulesOf(Controller, 'bytes').body).toBeNull());

  it('take the access of the handler, else of its class, else none', () => {
    expect(rulesOf(Controller, 'owners').access).toBe('owner');
    expect(rulesOf(Controller, 'nothing').access).toBe('member');
    expect(rulesOf(Undeclared, 'open').access).toBeUndefined();
  });
});
