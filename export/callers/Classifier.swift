// Not compiled here. CocoaPods: pod 'TensorFlowLiteSwift'
// For the profiles cpu, mobile, gpu and float32, whose input is in float32.

import CoreGraphics
import Foundation
import TensorFlowLite

final class Classifier {
    private let interpreter: Interpreter
    private let width: Int
    private let height: Int

    init(path: String) throws {
        interpreter = try Interpreter(modelPath: path)
        try interpreter.allocateTensors()
        let shape = try interpreter.input(at: 0).shape.dimensions  // [1, height, width, 3]
        (height, width) = (shape[1], shape[2])
    }

    /// The logits, in the order of labels.txt.
    func classify(_ picture: CGImage) throws -> [Float32] {
        var levels = [UInt8](repeating: 255, count: 4 * width * height)
        let context = CGContext(
            data: &levels, width: width, height: height, bitsPerComponent: 8,
            bytesPerRow: 4 * width, space: CGColorSpaceCreateDeviceRGB(),
            bitmapInfo: CGImageAlphaInfo.noneSkipLast.rawValue)!
        context.interpolationQuality = .high
        context.draw(picture, in: CGRect(x: 0, y: 0, width: width, height: height))
        let pixels = levels.enumerated().filter { $0.offset % 4 != 3 }.map { Float32($0.element) }
        try interpreter.copy(pixels.withUnsafeBufferPointer { Data(buffer: $0) }, toInputAt: 0)
        try interpreter.invoke()
        return try interpreter.output(at: 0).data.withUnsafeBytes { Array($0.bindMemory(to: Float32.self)) }
    }
}
