import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiOperation } from '@nestjs/swagger';
import type { ErrorCode } from '@patchbay/protocol';

/** An answer that is not JSON, by its media type. */
export interface Raw<MediaType extends string> {
  mediaType: MediaType;
}

/** By the id of the operation that an answer leads to: its parameters, or its body, as runtime expressions of OpenAPI. */
export interface RouteLinks {
  [operationId: string]: { [parameter: string]: string };
}

export interface RouteDescription {
  /** The operation id: what a generated client calls the route. */
  id: string;
  /** Errors beside those that follow from the access rule, the path and the body (scripts/api-document/errors.ts). */
  errors?: readonly ErrorCode[];
  /** Operations that an answer leads to. Path parameters that both routes have need no value. */
  links?: RouteLinks;
  /** The same, of status 202: a turn with open calls. */
  openLinks?: RouteLinks;
}

/** Where the description is until the document is written. */
export const ROUTE_EXTENSION = 'x-route';

/** What a handler may return for these answers: bytes and text may also be JSON that is serialized already. */
type Returned<Answers> =
  | Exclude<Answers[keyof Answers], null | Raw<string>>
  | (null extends Answers[keyof Answers] ? void | undefined : never)
  | Buffer
  | string;

type Handler<Answers> = (...parameters: never[]) => Returned<Answers> | Promise<Returned<Answers>>;

/**
 * Describes a route for docs/openapi.json. `Answers` has the type of the body by status, of all answers that are not an
 * error: `null` for no body, `Raw` for what is not JSON. `npm run generate` makes schemas of it.
 */
export const Route =
  <Answers extends { [status: number]: unknown } = never>({ id, ...rest }: RouteDescription) =>
  <H extends Handler<Answers>>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<H>,
  ): void =>
    applyDecorators(ApiOperation({ operationId: id }), ApiExtension(ROUTE_EXTENSION, rest))(
      target,
      key,
      descriptor,
    );

/** The value at a JSON pointer in the answer, for a link. */
export const inAnswer = (pointer: string): string => `$response.body#/${pointer}`;
