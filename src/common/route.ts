import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiOperation } from '@nestjs/swagger';
import type { ErrorCode } from '@patchbay/protocol';

/** A response that is not JSON, by its media type. */
export interface Raw<MediaType extends string> {
  mediaType: MediaType;
}

/** OpenAPI links, by the id of the target operation: its parameters or body as runtime expressions. */
export interface RouteLinks {
  [operationId: string]: { [parameter: string]: string };
}

export interface RouteDescription {
  /** The operation id: the name of the route in generated clients. */
  id: string;
  /** Errors beyond those that follow from the access rule, the path and the body (scripts/api-document/errors.ts). */
  errors?: readonly ErrorCode[];
  /** Operations that follow a response. Path parameters that both routes share need no value. */
  links?: RouteLinks;
  /** Same as `links` for status 202: a turn with open calls. */
  openLinks?: RouteLinks;
}

/** Holds the description until the document is written. */
export const ROUTE_EXTENSION = 'x-route';

/** What a handler may return for these responses: bytes and text may also be serialized JSON. */
type Returned<Answers> =
  | Exclude<Answers[keyof Answers], null | Raw<string>>
  | (null extends Answers[keyof Answers] ? void | undefined : never)
  | Buffer
  | string;

type Handler<Answers> = (...parameters: never[]) => Returned<Answers> | Promise<Returned<Answers>>;

/**
 * Describes a route for docs/openapi.json. `Answers` maps each success status to the type of its body: `null` for no
 * body, `Raw` for anything but JSON. `npm run generate` makes schemas of it.
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

/** The value at a JSON pointer in the response, for a link. */
export const inAnswer = (pointer: string): string => `$response.body#/${pointer}`;
