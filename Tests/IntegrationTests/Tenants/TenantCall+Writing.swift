import Kindred

extension TenantCall {
    /// Calls that write, by keys that may belong to rows of other tenants.
    func write(_ context: DatabaseContext) async throws -> ShownRows {
        switch number {
        case 29...31:
            let text = try await text(context)
            return ShownRows(objects: [try await context.create(entity, ["id": first, textKey: text])])
        case 32:
            let text = try await text(context)
            let task = try context.add("task", ["id": first, "title": text])
            if let project = try await context.find("project", second) { task["project_id"] = project["id"] }
            if let label = try await context.find("label", second) {
                try await task.set(forKey: "labelSet").insert(label)
            }
            try await context.save()
            return ShownRows(objects: [task])
        case 33, 34:
            let text = try await text(context)
            let object = try await context.create(
                entity, ["id": first, textKey: text], by: flag ? .update("id") : .keep("id"))
            return ShownRows(objects: [object])
        case 35:
            _ = try await context.fetch("task").where("id <= %@", first).update(["size": Formula("size + 1")])
        case 36: _ = try await context.fetch(entity).where("id == %@ OR id == %@", first, second).delete()
        case 37: _ = try await context.fetch("task").where("project.id == %@", first).limit(2).update(["size": second])
        case 38:
            let object = try await context.get(entity, first)
            try await object.setValue(try await text(context), forKey: textKey)
            return ShownRows(objects: [object])
        case 39:
            let task = try await context.get("task", first)
            try await task.setValue(try await context.get("project", second), forKey: "project")
            return ShownRows(objects: [task])
        case 40:
            let task = try await context.get("task", first)
            let labels = try await task.set(forKey: "labelSet")
            let others = try await context.find("label", [first, second])
            if flag { try await labels.set(others) } else { try await labels.formUnion(others) }
            return ShownRows(objects: try await labels.objects)
        case 41:
            let project = try await context.get("project", first)
            let tasks = try await project.set(forKey: "taskSet")
            if flag {
                try await tasks.removeAll()
            } else {
                try await tasks.set(try await context.find("task", [first, second]))
            }
            return ShownRows(objects: try await tasks.objects)
        case 42: try await context.delete(try await context.get(entity, first))
        case 43:
            let object = try await context.get(entity, first)
            let json = "{\"\(textKey)\": \"\(try await text(context))\"}"
            try object.apply(try ObjectPatch(json: json.utf8))
            try await context.save()
            return ShownRows(objects: [object])
        case 44:
            // Also unique, and no more the tenant's own than the key.
            let values: [String: (any PropertyValue)?] = [
                "id": first, "name": try await text(context), "code": "code \(second)",
            ]
            let object = try await context.create(
                "project", values, by: flag ? .update("code") : .keep("code"))
            return ShownRows(objects: [object])
        case 45:
            let object = try await context.get(entity, first)
            var values: [String: (any PropertyValue)?] = [textKey: try await text(context)]
            if flag { values["tenant_id"] = second % 3 + 1 }
            try await object.setValues(values)
            return ShownRows(objects: [object])
        case 46:
            for object in try await context.find(entity, [first, second]) { try context.stageDeletion(of: object) }
            try await context.save()
        case 47:
            let labels = try await context.get("task", first).set(forKey: "labelSet")
            let label = try await context.get("label", second)
            if flag { try await labels.insert(label) } else { try await labels.remove(label) }
            return ShownRows(objects: try await labels.objects)
        case 48:
            let text = try await text(context)
            let rows: [[String: (any PropertyValue)?]] = [first, second].map { ["id": $0, textKey: text] }
            return ShownRows(
                objects: try await context.create(entity, rows, by: flag ? .update("id") : .keep("id")))
        case 49:
            let (object, text) = (try await context.get(entity, first), try await text(context))
            try await context.save(retry: .attempts(2)) { object[textKey] = .string(text) }
            return ShownRows(objects: [object])
        case 50:
            let object = try await context.get(entity, first)
            try await context.transaction { () async throws in
                try await object.lock()
                try await object.setValue(try await text(context), forKey: textKey)
            }
            return ShownRows(objects: [object])
        default:
            return try await context.transaction { () async throws in
                let objects = try await context.fetch(entity).where("id > %@", first).lock(.forUpdate).all()
                for object in objects { try await object.refresh() }
                return ShownRows(objects: objects)
            }
        }
        return ShownRows()
    }
}
