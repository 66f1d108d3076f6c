// An HTTPS server; its settings come as JSON in the first argument.
"use strict";

const fs = require("node:fs");
const http2 = require("node:http2");
const https = require("node:https");

const settings = JSON.parse(process.argv[2]);
const options = {
  cert: fs.readFileSync(settings.certificate),
  key: fs.readFileSync(settings.key),
  sessionIdContext: settings.sessionIdContext,
  minVersion: settings.minVersion,
  maxVersion: settings.maxVersion,
  // Left out, Node makes a key of its own.
  ...(settings.ticketKeys && { ticketKeys: Buffer.from(settings.ticketKeys, "base64") }),
};

const answer = (request, response) => response.end("node\n");
const server = settings.http2
  ? http2.createSecureServer({ ...options, allowHTTP1: true }, answer)
  : https.createServer(options, answer);
server.listen(settings.port, settings.host);
