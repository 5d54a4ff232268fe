/**
 * What `/docs` runs in the browser: reads the OpenAPI document of this very service and shows it. Text is only ever set
 * as text. It is a string because the page's policy allows one script, by its hash; a test runs it on a small document.
 */
export const DOCS_SCRIPT = String.raw`
"use strict";
(function () {
  var main = document.querySelector("main");
  var status = document.querySelector("#status");
  function el(tag, text, className) {
    var node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (className) node.className = className;
    return node;
  }
  function put(parent) {
    for (var i = 1; i < arguments.length; i++) if (arguments[i]) parent.appendChild(arguments[i]);
    return parent;
  }
  function json(value) {
    return el("pre", JSON.stringify(value, null, 2));
  }
  function nameOf(ref) {
    return ref.slice(ref.lastIndexOf("/") + 1);
  }
  function kindOf(schema) {
    if (!schema) return "";
    if (schema.$ref) return nameOf(schema.$ref);
    if (schema.enum) return schema.enum.map(String).join(" | ");
    if (schema.const !== undefined) return String(schema.const);
    var any = schema.anyOf || schema.oneOf || schema.allOf;
    if (any) return any.map(kindOf).join(schema.allOf ? " & " : " | ");
    if (schema.type === "array") return kindOf(schema.items) + "[]";
    return schema.type || "any";
  }
  function row(cells) {
    var line = el("tr");
    cells.forEach(function (cell) {
      put(line, cell.nodeType ? put(el("td"), cell) : el("td", cell));
    });
    return line;
  }
  function table(heads, rows) {
    var head = el("tr");
    heads.forEach(function (text) {
      put(head, el("th", text));
    });
    var whole = put(el("table"), head);
    rows.forEach(function (cells) {
      put(whole, row(cells));
    });
    return whole;
  }
  function members(schema) {
    var properties = schema.properties || {};
    var required = schema.required || [];
    var names = Object.keys(properties);
    if (names.length === 0) return json(schema);
    return table(
      ["Member", "Kind", ""],
      names.map(function (name) {
        return [el("code", name), kindOf(properties[name]), required.indexOf(name) < 0 ? "optional" : ""];
      }),
    );
  }
  function shape(content) {
    var box = el("div");
    Object.keys(content || {}).forEach(function (type) {
      if (type === "application/problem+json") return;
      var body = content[type];
      put(box, el("p", type + ": " + kindOf(body.schema), "soft"));
      if (body.schema && body.schema.properties) put(box, members(body.schema));
      if (body.example !== undefined) put(box, json(body.example));
    });
    return box;
  }
  function resolved(doc, value) {
    return value.$ref ? doc.components[value.$ref.split("/")[2]][nameOf(value.$ref)] : value;
  }
  function operation(doc, path, method, op) {
    var summary = put(el("summary"), el("span", method.toUpperCase(), "method"), el("code", path), el("span", "  " + op.summary, "soft"));
    var box = put(el("details"), summary);
    box.id = op.operationId;
    if (op.description) put(box, el("p", op.description));
    var scopes = op.security.length === 0 ? null : op.security[0].bearer;
    put(box, el("p", scopes === null ? "Open to everybody." : "Needs a sign-in" + (scopes.length ? " with the scope " + scopes.join(", ") : "") + ".", "soft"));
    if (op.parameters.length > 0) {
      put(box, el("h3", "Parameters"), table(["Name", "In", "Kind", ""], op.parameters.map(function (p) {
        return [el("code", p.name), p.in, kindOf(p.schema), (p.required ? "" : "optional. ") + (p.description || "")];
      })));
    }
    if (op.requestBody) put(box, el("h3", "Body"), shape(op.requestBody.content));
    put(box, el("h3", "Answers"));
    Object.keys(op.responses).forEach(function (code) {
      var answer = resolved(doc, op.responses[code]);
      put(box, put(el("p"), el("code", code), el("span", "  " + answer.description)), shape(answer.content));
    });
    return box;
  }
  function show(doc) {
    var groups = {};
    Object.keys(doc.paths).forEach(function (path) {
      Object.keys(doc.paths[path]).forEach(function (method) {
        var op = doc.paths[path][method];
        var tag = op.tags[0];
        (groups[tag] = groups[tag] || []).push(operation(doc, path, method, op));
      });
    });
    Object.keys(groups).forEach(function (tag) {
      put(main, el("h2", tag));
      groups[tag].forEach(function (node) {
        put(main, node);
      });
    });
    put(main, el("h2", "Shapes"));
    Object.keys(doc.components.schemas).forEach(function (name) {
      var box = put(el("details"), put(el("summary"), el("code", name)), members(doc.components.schemas[name]));
      box.id = "schema-" + name;
      put(main, box);
    });
    status.textContent = doc.info.title + " " + doc.info.version;
  }
  document.querySelector("#find").addEventListener("input", function (event) {
    var wanted = event.target.value.toLowerCase();
    Array.prototype.forEach.call(main.querySelectorAll("details"), function (node) {
      node.hidden = node.querySelector("summary").textContent.toLowerCase().indexOf(wanted) < 0;
    });
  });
  fetch("/v1/openapi.json")
    .then(function (answer) {
      if (!answer.ok) throw new Error(String(answer.status));
      return answer.json();
    })
    .then(show)
    .catch(function (error) {
      status.textContent = "The description could not be read: " + error.message;
    });
})();
`;
