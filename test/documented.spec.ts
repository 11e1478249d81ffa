import { Controller, Get } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { operationsOf, routesOf } from '../scripts/api-document/describe.js';
import { errorsOf } from '../scripts/api-document/errors.js';
import { Access } from '../src/common/access.js';
import { Route, ROUTE_EXTENSION } from '../src/common/route.js';
import { DOCUMENT, errorCodes, expectDocumented } from './support/documented.js';
import { startTestServer } from './support/server.js';

/** What each route of an application lacks, on its handler or in docs/openapi.json. */
function gapsOf(app: NestFastifyApplication): string[] {
  return operationsOf(routesOf(app)).flatMap(({ path, method, operation }) => {
    const documented = DOCUMENT.paths[path]?.[method];
    const answers = Object.values(documented?.responses ?? {});
    const codes = answers.flatMap((answer) => errorCodes(answer));
    const gaps = [
      operation[ROUTE_EXTENSION] === undefined && '@Route',
      documented?.operationId !== operation.operationId && 'its operation id',
      answers.every(({ $ref }) => $ref !== undefined) && 'an answer',
      codes.sort().join() !== [...errorsOf(path, operation)].sort().join() && 'its errors',
    ];
    return gaps.filter((gap) => gap !== false).map((gap) => `${method} ${path} lacks ${gap}`);
  });
}

@Controller('health')
@Access('public')
class UndescribedController {
  @Get('undescribed')
  without(): string {
    return '';
  }

  // @ts-expect-error -- the compiler compares what a handler declares with what it returns
  @Route<{ 200: { status: 'live' } }>({ id: 'ready' })
  @Get('ready')
  withAnotherAnswer(): { status: number } {
    return { status: 1 };
  }

  @Get('live')
  @Route<{ 200: string }>({ id: 'live', errors: ['CONFLICT'] })
  withOtherErrors(): string {
    return '';
  }
}

interface Operation {
  operationId: string;
  security: object[];
  responses: { [status: string]: { links?: { [name: string]: Link } } };
  parameters: { in: string; name: string; required?: boolean; schema: { [keyword: string]: unknown } }[];
}
interface Link {
  operationId: string;
  parameters?: { [name: string]: string };
  requestBody?: { [name: string]: string };
}

const operations = () =>
  Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      return { name: `${method} ${path}`, path, operation: operation as unknown as Operation };
    }),
  );

describe('the documented API', () => {
  it('has of each route what its handler declares: an operation id, answers, errors', async () => {
    const server = await startTestServer();
    const gaps = gapsOf(server.app);
    const routes = operationsOf(routesOf(server.app)).map(({ path, method }) => `${method} ${path}`);
    await server.close();
    expect(gaps).toEqual([]);
    expect(operations().map(({ name }) => name)).toEqual(routes);
  });

  it('lacks a route without @Route, and errors that were declared since', async () => {
    const module = await Test.createTestingModule({ controllers: [UndescribedController] }).compile();
    const app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false });
    expect(gapsOf(app)).toEqual([
      'get /health/undescribed lacks @Route',
      'get /health/undescribed lacks its operation id',
      'get /health/undescribed lacks an answer',
      'get /health/undescribed lacks its errors',
      'get /health/live lacks its errors',
    ]);
  });

  describe('as a document for tools', () => {
    type Node = { [key: string]: unknown };
    /** Every part of the document, by its place in it. */
    function* parts(node: unknown, at = ''): Generator<[string, Node]> {
      if (typeof node !== 'object' || node === null) return;
      yield [at, node as Node];
      for (const [key, value] of Object.entries(node)) yield* parts(value, `${at}/${key}`);
    }

    it('says of every object what is in it', () => {
      const bare = [...parts(DOCUMENT)].filter(
        ([, part]) => part.type === 'object' && !part.properties && part.additionalProperties === undefined,
      );
      expect(bare.map(([at]) => at)).toEqual([]);
    });

    it('refers to nothing that is not there', () => {
      const refs = [...parts(DOCUMENT)].map(([, part]) => part.$ref).filter((ref) => typeof ref === 'string');
      const names = new Set([...parts(DOCUMENT)].map(([at]) => `#${at}`));
      expect(refs.filter((ref) => !names.has(ref))).toEqual([]);
    });

    it('has each form of a call, and calls that have one of them', () => {
      const { schemas } = DOCUMENT.components as { schemas: { [name: string]: Node } };
      const forms = ['NeutralCall', 'OpenAiCall', 'OpenAiResponsesCall', 'AnthropicCall', 'GeminiCall'];
      expect(schemas.ToolCallInput!.oneOf).toEqual(
        forms.map((form) => ({ $ref: `#/components/schemas/${form}` })),
      );
      expect(schemas.PostTurnDto!.properties).toMatchObject({
        toolCalls: { type: 'array', items: { $ref: '#/components/schemas/ToolCallInput' } },
      });
    });

    it('has no query and no property that is required and has a default', () => {
      const queries = operations().flatMap(({ name, operation }) =>
        operation.parameters
          .filter(({ required, schema }) => required && 'default' in schema)
          .map((parameter) => `${name} ${parameter.name}`),
      );
      const properties = [...parts(DOCUMENT)].flatMap(([at, { properties: all, required }]) =>
        (Array.isArray(required) ? (required as string[]) : [])
          .filter((name) => 'default' in ((all as { [name: string]: Node } | undefined)?.[name] ?? {}))
          .map((name) => `${at}/${name}`),
      );
      expect([...queries, ...properties]).toEqual([]);
    });

    it('says of each object that the server reads that it has no other property', () => {
      const { schemas } = DOCUMENT.components as { schemas: { [name: string]: Node } };
      const requests = Object.entries(schemas).filter(([name]) => name.endsWith('Dto'));
      expect(requests.length).toBeGreaterThan(15);
      for (const [name, { additionalProperties }] of requests)
        expect([name, additionalProperties]).toEqual([name, false]);
    });

    it('names each operation once', () => {
      const names = operations().map(({ operation }) => operation.operationId);
      expect(
        names.filter((name, at) => !/^[a-z][A-Za-z]+$/.test(name) || names.indexOf(name) !== at),
      ).toEqual([]);
    });

    it('leads from an answer only to what there is, with all that its path needs', () => {
      const byId = new Map(operations().map(({ operation }) => [operation.operationId, operation]));
      const links = operations().flatMap(({ operation }) =>
        Object.values(operation.responses).flatMap((answer) => Object.values(answer.links ?? {})),
      );
      expect(links.length).toBeGreaterThan(30);
      for (const { operationId, parameters = {}, requestBody } of links) {
        const target = byId.get(operationId)!;
        const inPath = target.parameters
          .filter((parameter) => parameter.in === 'path')
          .map(({ name }) => name);
        expect([operationId, Object.keys(parameters).sort()]).toEqual([operationId, inPath.sort()]);
        expect([operationId, requestBody !== undefined]).toEqual([operationId, inPath.length === 0]);
      }
    });

    it('says who may ask, and which errors there are', () => {
      for (const { name, path, operation } of operations()) {
        const isPublic = /^\/health\/|^\/api\/v1\/auth\//.test(path);
        expect([name, operation.security]).toEqual([name, isPublic ? [] : [{ bearer: [] }, { cookie: [] }]]);
        expect([name, Object.keys(operation.responses)]).toEqual([
          name,
          expect.arrayContaining(isPublic ? ['400', '500'] : ['400', '401', '403', '429', '500', '503']),
        ]);
      }
    });
  });

  describe('as every test holds the answers that it gets to it', () => {
    const url = 'http://localhost:1/api/v1/workspaces/w/blobs/missing';
    const answer = {
      ...{ method: 'POST', url, status: 200, contentType: 'application/json; charset=utf-8' },
      body: { missing: [] } as unknown,
    };

    it('takes what it says, and errors in their one form', () => {
      expectDocumented(answer);
      expectDocumented({ ...answer, status: 400, body: { error: 'No.', code: 'VALIDATION_ERROR' } });
    });

    it.each([
      ['another status', { status: 201 }],
      ['another media type', { contentType: 'text/html' }],
      [
        'a body where there is none',
        { url: url.replace('/workspaces/w/blobs/missing', '/auth/logout'), status: 204 },
      ],
      ['a property more', { body: { missing: [], more: 1 } }],
      ['a property less', { body: {} }],
      ['another type', { body: { missing: [1] } }],
      ['an error that the route does not have', { status: 404, body: { error: 'No.', code: 'NOT_FOUND' } }],
      ['an error of another status', { status: 400, body: { error: 'No.', code: 'NOT_FOUND' } }],
      ['an error of another form', { status: 400, body: { message: 'no' } }],
      ['a success of a route that it does not know', { url: `${url}/more` }],
    ])('refuses %s', (_, change) => {
      expect(() => expectDocumented({ ...answer, ...change })).toThrow('answered');
    });
  });
});
